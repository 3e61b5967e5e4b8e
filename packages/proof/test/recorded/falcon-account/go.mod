module attestd.example/falcon-account

go 1.26.0

require (
	filippo.io/edwards25519 v1.1.0
	github.com/algorand/falcon v0.1.0
)
