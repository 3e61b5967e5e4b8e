module attestd.example/state-proof-parts

go 1.26.0

require (
	github.com/algorand/falcon v0.1.0
	github.com/algorand/go-sumhash v0.1.0
)

require (
	golang.org/x/crypto v0.0.0-20210921155107-089bfa567519 // indirect
	golang.org/x/sys v0.0.0-20210615035016-665e8c7367d1 // indirect
)
