class users (Hash[String, Users::User] $accounts, Users::Tree $tree = 0, Array[String] $order = $accounts.keys) { }
