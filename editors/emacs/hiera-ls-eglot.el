;;; hiera-ls-eglot.el --- hiera-ls through eglot  -*- lexical-binding: t -*-

(require 'eglot)
(require 'hiera-ls-root)

(add-to-list 'eglot-server-programs '(yaml-mode . ("hiera-ls" "server")))

(defun hiera-ls-eglot-ensure ()
  "Start eglot below a hiera.yaml, and nowhere else."
  (when (and buffer-file-name (hiera-ls-root buffer-file-name))
    (eglot-ensure)))

(add-hook 'yaml-mode-hook #'hiera-ls-eglot-ensure)

(provide 'hiera-ls-eglot)
;;; hiera-ls-eglot.el ends here
