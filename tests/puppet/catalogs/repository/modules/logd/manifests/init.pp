class logd (String $format = 'text', Array $fields = []) { }
