class profile::logging (Array[Hash] $targets = []) { include logd include logd::forward }
