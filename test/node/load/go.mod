module stowage.test/load

go 1.24
