// What makes a site of the documentation. It is a module of its own, so that the program needs none of this.
module github.com/inferometer/inferometer/scripts/docs

go 1.26.0

require github.com/yuin/goldmark v1.8.7
