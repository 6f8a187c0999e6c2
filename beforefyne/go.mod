module beforefyne

go 1.26
