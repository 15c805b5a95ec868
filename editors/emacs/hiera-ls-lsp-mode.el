;;; hiera-ls-lsp-mode.el --- hiera-ls through lsp-mode  -*- lexical-binding: t -*-

(require 'lsp-mode)
(require 'hiera-ls-root)

(add-to-list 'lsp-language-id-configuration '(yaml-mode . "yaml"))

(lsp-register-client
 (make-lsp-client :new-connection (lsp-stdio-connection '("hiera-ls" "server"))
                  :activation-fn (lambda (file mode) (and (eq mode 'yaml-mode) (hiera-ls-root file)))
                  :add-on? t            ; beside yaml-language-server
                  :server-id 'hiera-ls))

(defun hiera-ls-lsp ()
  "Start lsp-mode below a hiera.yaml; the environment is the workspace folder."
  (let ((root (and buffer-file-name (hiera-ls-root buffer-file-name))))
    (when root
      (lsp-workspace-folders-add (directory-file-name root))
      (lsp))))

(add-hook 'yaml-mode-hook #'hiera-ls-lsp)

(provide 'hiera-ls-lsp-mode)
;;; hiera-ls-lsp-mode.el ends here
