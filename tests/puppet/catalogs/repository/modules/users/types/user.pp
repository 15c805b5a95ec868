type Users::User = Struct[{Optional[uid] => Integer, groups => Array[String], Optional[shell] => Pattern[/\A\//]}]
