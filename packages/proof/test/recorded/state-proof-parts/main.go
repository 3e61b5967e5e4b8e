// Makes ../state-proof-parts.json by Algorand's own modules: go run . > ../state-proof-parts.json
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"

	"github.com/algorand/falcon"
	"github.com/algorand/go-sumhash"
)

type hashed struct {
	Length int    `json:"length"`
	Hash   string `json:"hash"`
}

type signed struct {
	PublicKey string `json:"publicKey"`
	Message   string `json:"message"`
	Signature string `json:"signature"`
	CT        string `json:"ct"`
}

type wrong struct {
	Why       string `json:"why"`
	Signature string `json:"signature"`
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// message is SHA-256 of "attestd", the place's number and so on, cut to the length: anyone can make it again.
func message(length int) []byte {
	m := []byte{}
	for i := 0; len(m) < length; i++ {
		d := sha256.Sum256([]byte{byte(length), byte(length >> 8), byte(i), byte(i >> 8)})
		m = append(m, d[:]...)
	}
	return m[:length]
}

func main() {
	out := struct {
		Sumhash512 []hashed `json:"sumhash512"`
		Falcon     []signed `json:"falcon"`
		Refused    []wrong  `json:"refused"`
	}{}
	for _, n := range []int{0, 1, 2, 47, 48, 49, 63, 64, 65, 111, 112, 113, 127, 128, 129, 130, 191, 192, 193, 1805, 4377, 10000} {
		h := sumhash.New512(nil)
		h.Write(message(n))
		out.Sumhash512 = append(out.Sumhash512, hashed{n, b64(h.Sum(nil))})
	}
	for i := 0; i < 4; i++ {
		pk, sk, err := falcon.GenerateKey(message(32 + i))
		check(err)
		for _, n := range []int{0, 32, 200} {
			sig, err := sk.SignCompressed(message(n))
			check(err)
			ct, err := sig.ConvertToCT()
			check(err)
			check(pk.Verify(sig, message(n)))
			out.Falcon = append(out.Falcon, signed{b64(pk[:]), b64(message(n)), b64(sig), b64(ct[:])})
			if i == 0 && n == 32 {
				for why, change := range wrongs {
					bad := change(append(falcon.CompressedSignature{}, sig...))
					if pk.Verify(bad, message(n)) == nil {
						panic(why + " verifies")
					}
					out.Refused = append(out.Refused, wrong{why, b64(bad)})
				}
			}
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(out))
}

// Changes of the first signature over 32 bytes that falcon itself refuses.
var wrongs = map[string]func(falcon.CompressedSignature) falcon.CompressedSignature{
	"another header":       func(s falcon.CompressedSignature) falcon.CompressedSignature { s[0] = 0x3a; return s },
	"another salt version": func(s falcon.CompressedSignature) falcon.CompressedSignature { s[1] = 1; return s },
	"a trailing zero":      func(s falcon.CompressedSignature) falcon.CompressedSignature { return append(s, 0) },
	"cut":                  func(s falcon.CompressedSignature) falcon.CompressedSignature { return s[:len(s)-1] },
	"too long": func(s falcon.CompressedSignature) falcon.CompressedSignature {
		return append(s, make([]byte, falcon.SignatureMaxSize)...)
	},
	"nothing but a header": func(s falcon.CompressedSignature) falcon.CompressedSignature { return s[:2] },
	"one coefficient more": func(s falcon.CompressedSignature) falcon.CompressedSignature { s[5] ^= 1; return s },
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
