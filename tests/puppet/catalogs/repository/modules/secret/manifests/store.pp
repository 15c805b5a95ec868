class secret::store (Sensitive $root_token = Sensitive('none'), String $path = '/etc/secret') { contain secret }
