type Users::Tree = Variant[Integer, Array[Users::Tree]]
