;;; emacs.el --- drives Emacs as a user works, with the shipped files of editors/emacs  -*- lexical-binding: t -*-

;; emacs -q --batch -L editors/emacs -l emacs.el CLIENT, which is `eglot' or `lsp-mode'. The working directory is a copy of
;; tests/control-repo, hiera-ls is on PATH. (-q, not -Q: Debian's site file makes its packages visible.)

(require 'cl-lib)
(require 'package)
(package-initialize)
(setq make-backup-files nil create-lockfiles nil auto-save-default nil)

(defvar client (car command-line-args-left))
(setq command-line-args-left nil)
(defvar root (file-truename default-directory))
(defun in-root (file) (expand-file-name file root))
(defvar node (in-root "data/nodes/web-01.oslo.example.net.yaml"))
(defvar common (in-root "data/common.yaml"))
(defvar mended "\"%{alias('ntp_servers')}\"")
(defvar broken "\"pool %{alias('ntp_servers')}\"")

(defun wait-for (what condition)
  "Let messages arrive until CONDITION holds, and return what it gave."
  (let ((end (+ (float-time) 60)) found)
    (while (and (not (setq found (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.02))
    (or found (error "timed out waiting for %s" what))))

(defun go-to (text)
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(defun change (old new)
  (go-to old)
  (delete-char (length old))
  (insert new))

;; What the two clients do in their own way.

(defun eglot-chain ()
  (require 'hiera-ls-eglot)
  (find-file node)
  ;; In batch no idle moment comes for eglot-ensure.
  (unless (eglot-managed-p) (apply #'eglot (eglot--guess-contact)))
  (wait-for "eglot" #'eglot-managed-p)
  (cl-assert (equal (file-truename (project-root (eglot--project (eglot-current-server)))) root))
  (check (lambda ()
           (let (text)
             (eglot-hover-eldoc-function (lambda (shown &rest _) (setq text (format "%s" shown))))
             (wait-for "hover" (lambda () text))))
         (lambda () (call-interactively #'xref-find-definitions))
         (lambda () (eglot--signal-textDocument/didChange) (flymake-start)) ; which an idle moment does, too
         (lambda () (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))
         (lambda () (let ((server (eglot-current-server))) (and server (jsonrpc--process server)))))
  (eglot-shutdown (eglot-current-server)))

(defun lsp-chain ()
  (setq lsp-session-file (in-root "lsp-session") lsp-enable-snippet nil lsp-diagnostics-provider :none lsp-enable-file-watchers nil
        lsp-auto-guess-root nil lsp-headerline-breadcrumb-enable nil lsp-modeline-code-actions-enable nil lsp-enabled-clients '(hiera-ls)
        lsp-restart 'auto-restart lsp-keep-workspace-alive nil)
  (require 'hiera-ls-lsp-mode)
  (find-file node)
  (wait-for "lsp-mode" (lambda () (and (lsp-workspaces) (eq 'initialized (lsp--workspace-status (car (lsp-workspaces)))))))
  (cl-assert (equal (file-name-as-directory (file-truename (lsp-workspace-root))) root))
  (check (lambda ()
           (gethash "value" (gethash "contents" (lsp-request "textDocument/hover" (lsp--text-document-position-params)))))
         #'lsp-find-definition
         #'lsp--flush-delayed-changes
         (lambda () (mapcar (lambda (found) (gethash "code" found)) (gethash buffer-file-name (lsp-diagnostics t))))
         (lambda () (let ((workspace (car (lsp-workspaces))))
                      (and workspace (eq 'initialized (lsp--workspace-status workspace)) (lsp--workspace-proc workspace)))))
  (lsp-workspace-shutdown (car (lsp-workspaces))))

(defun check (hover find-definition send-changes findings server)
  "The chain: hover, definition, an alias that is broken, a server that is killed meanwhile, an alias that is mended."
  (go-to "profile::web::vhosts")
  (let ((text (funcall hover)))
    (dolist (part '("keepalive: 75" "butikk.example.net"))
      (cl-assert (string-match-p (regexp-quote part) text) nil "no %s in %s" part text)))
  (find-file common)
  (when (eq client "eglot") (wait-for "eglot" #'eglot-managed-p))
  (go-to "profile::base::contact')")
  (funcall find-definition)
  (cl-assert (equal (file-truename buffer-file-name) common))
  (cl-assert (progn (beginning-of-line) (looking-at-p "profile::base::contact:")))
  (change mended broken)
  (funcall send-changes)
  (let ((found (wait-for "a finding" findings)))
    (cl-assert (and (= (length found) 1) (string-match-p "alias" (car found))) nil "findings are %s" found))
  ;; eglot starts another if the one that ended had been there for longer than `eglot-autoreconnect'.
  (sleep-for 4)
  (let ((killed (funcall server)))
    (signal-process killed 'SIGKILL)
    (wait-for "another server" (lambda () (let ((now (funcall server))) (and now (not (eq now killed)) (process-live-p now))))))
  (wait-for "the finding again" findings)
  (change broken mended)
  (funcall send-changes)
  (wait-for "no findings" (lambda () (null (funcall findings))))
  (set-buffer-modified-p nil))

(defun other-yaml-is-left-alone ()
  (let ((file (make-temp-file "compose" nil ".yaml")))
    (find-file file)
    (cl-assert (eq major-mode 'yaml-mode))
    (cl-assert (not (or (and (fboundp 'eglot-managed-p) (eglot-managed-p)) (bound-and-true-p lsp-mode))))
    (cl-assert (null (hiera-ls-root file)))
    (delete-file file)))

(if (equal client "eglot") (eglot-chain) (lsp-chain))
(other-yaml-is-left-alone)
(princ (format "held: Emacs %s, %s\n" emacs-version client))
