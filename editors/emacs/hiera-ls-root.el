;;; hiera-ls-root.el --- which folder a file of Hiera data belongs to  -*- lexical-binding: t -*-

;; The environment is the outermost folder with a hiera.yaml, as modules have one of their own.

(defun hiera-ls-root (path)
  "The environment's folder for the file or folder PATH, or nil."
  (let ((above (locate-dominating-file path "hiera.yaml")) root)
    (while above
      (setq root (expand-file-name above)
            above (locate-dominating-file (file-name-directory (directory-file-name root)) "hiera.yaml")))
    root))

(defun hiera-ls-project (folder)
  "The environment around FOLDER as a project."
  (let ((root (hiera-ls-root folder)))
    (and root (cons 'transient root))))

(add-hook 'project-find-functions #'hiera-ls-project)
(add-to-list 'auto-mode-alist '("\\.e?ya?ml\\'" . yaml-mode))

(provide 'hiera-ls-root)
;;; hiera-ls-root.el ends here
