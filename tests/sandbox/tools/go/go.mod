module example.com/app

go 1.18

require example.com/tooldep v1.0.0
