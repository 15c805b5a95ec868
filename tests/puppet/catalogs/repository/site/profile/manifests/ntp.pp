class profile::ntp (Integer $_tries = 1, Boolean $restrict = true) {
  include ntp
}
