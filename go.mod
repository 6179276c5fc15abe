module inferometer

go 1.26
