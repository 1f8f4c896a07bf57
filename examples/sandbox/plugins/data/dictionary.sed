s/hello/bonjour/
s/world/monde/
