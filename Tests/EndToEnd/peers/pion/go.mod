module rtcast.test/pion

go 1.19
