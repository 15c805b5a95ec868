class profile::mail { hiera_include('profile::mail::classes', ['mail']) }
