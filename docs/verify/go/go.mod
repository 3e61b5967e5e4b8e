module attestd.example/verify

go 1.26.0

require (
	filippo.io/mldsa v1.0.0
	github.com/algorand/falcon v0.1.0
	github.com/algorand/go-sumhash v0.1.0
	github.com/transparency-dev/merkle v0.0.2
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect
