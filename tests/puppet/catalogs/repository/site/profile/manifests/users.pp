class profile::users { include users }
