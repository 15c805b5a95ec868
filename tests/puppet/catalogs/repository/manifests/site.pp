# The class of a role comes with the fact `role`; further classes are in the data.
node default {
  include "role::${facts['role']}"
  lookup('classes', Array[String], 'unique', []).include
}
