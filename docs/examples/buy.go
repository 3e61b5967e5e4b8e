// Buys an attestation with go-ethereum, which signs the payment: nothing in here is ours.
//
//	go mod init buy && go get github.com/ethereum/go-ethereum@v1.17.10 && go run buy.go
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// One way to pay, of the 402's PAYMENT-REQUIRED (x402 v2, scheme exact).
type offer struct {
	Network           string            `json:"network"`
	Asset             string            `json:"asset"`
	Amount            string            `json:"amount"`
	PayTo             string            `json:"payTo"`
	MaxTimeoutSeconds int64             `json:"maxTimeoutSeconds"`
	Extra             map[string]string `json:"extra"`
}

func main() {
	var sandbox struct {
		ServiceURL         string                                     `json:"serviceUrl"`
		Payers             struct{ Base struct{ PrivateKey string } } `json:"payers"`
		SampleTransactions struct{ Base string }                      `json:"sampleTransactions"`
	}
	read(must(os.ReadFile(".attestd/sandbox.json")), &sandbox)
	url := sandbox.ServiceURL + "/attest"
	body := must(json.Marshal(map[string]string{"txid": sandbox.SampleTransactions.Base}))

	demand := post(url, body, "")
	header := must(base64.StdEncoding.DecodeString(demand.Header.Get("PAYMENT-REQUIRED")))
	var required struct {
		Resource json.RawMessage   `json:"resource"`
		Accepts  []json.RawMessage `json:"accepts"`
	}
	read(header, &required)
	for _, accepted := range required.Accepts {
		var offered struct {
			Network string `json:"network"`
		}
		read(accepted, &offered)
		if !strings.HasPrefix(offered.Network, "eip155:") {
			continue
		}
		payment := must(json.Marshal(map[string]any{
			"x402Version": 2,
			"resource":    required.Resource,
			"accepted":    accepted,
			"payload":     sign(accepted, sandbox.Payers.Base.PrivateKey),
		}))
		answer := post(url, body, base64.StdEncoding.EncodeToString(payment))
		fmt.Println(string(must(io.ReadAll(answer.Body))))
		return
	}
	log.Fatal("nothing is sold on Base")
}

// sign signs a TransferWithAuthorization (EIP-3009) of USDC, which the facilitator submits and pays for.
func sign(accepted []byte, privateKey string) map[string]any {
	var terms offer
	read(accepted, &terms)
	key := must(crypto.HexToECDSA(strings.TrimPrefix(privateKey, "0x")))
	nonce := make([]byte, 32)
	must(rand.Read(nonce))
	chainID := must(strconv.ParseInt(strings.TrimPrefix(terms.Network, "eip155:"), 10, 64))
	now := time.Now().Unix()
	authorization := apitypes.TypedDataMessage{
		"from":        crypto.PubkeyToAddress(key.PublicKey).Hex(),
		"to":          terms.PayTo,
		"value":       terms.Amount,
		"validAfter":  strconv.FormatInt(now-600, 10),
		"validBefore": strconv.FormatInt(now+terms.MaxTimeoutSeconds, 10),
		"nonce":       hexutil.Encode(nonce),
	}
	digest, _, err := apitypes.TypedDataAndHash(apitypes.TypedData{
		PrimaryType: "TransferWithAuthorization",
		Domain: apitypes.TypedDataDomain{
			Name:              terms.Extra["name"],
			Version:           terms.Extra["version"],
			ChainId:           math.NewHexOrDecimal256(chainID),
			VerifyingContract: terms.Asset,
		},
		Types: apitypes.Types{
			"EIP712Domain": {
				{Name: "name", Type: "string"}, {Name: "version", Type: "string"},
				{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"},
			},
			"TransferWithAuthorization": {
				{Name: "from", Type: "address"}, {Name: "to", Type: "address"}, {Name: "value", Type: "uint256"},
				{Name: "validAfter", Type: "uint256"}, {Name: "validBefore", Type: "uint256"}, {Name: "nonce", Type: "bytes32"},
			},
		},
		Message: authorization,
	})
	if err != nil {
		log.Fatal(err)
	}
	signature := must(crypto.Sign(digest, key))
	signature[64] += 27 // the recovery id as Ethereum writes it
	return map[string]any{"signature": hexutil.Encode(signature), "authorization": authorization}
}

func post(url string, body []byte, payment string) *http.Response {
	request := must(http.NewRequest("POST", url, bytes.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	if payment != "" {
		request.Header.Set("PAYMENT-SIGNATURE", payment)
	}
	return must(http.DefaultClient.Do(request))
}

func read(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
