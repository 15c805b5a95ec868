class profile::secrets { include secret::store }
