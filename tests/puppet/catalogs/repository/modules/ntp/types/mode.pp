type Ntp::Mode = Enum['client', 'server']
