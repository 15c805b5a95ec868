type Ntp::Server = Pattern[/\A[a-zA-Z0-9.-]+\z/]
