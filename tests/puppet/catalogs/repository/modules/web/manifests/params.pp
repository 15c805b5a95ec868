class web::params (String $user = 'nobody') { }
