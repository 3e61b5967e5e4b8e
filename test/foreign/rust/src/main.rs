//! Buys an attestation with the crates of x402-rs: buyer SANDBOX_JSON TXID RAIL. Prints the bundle and the decoded receipt.
use alloy_signer_local::PrivateKeySigner;
use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Client;
use serde_json::{Value, json};
use solana_client::nonblocking::rpc_client::RpcClient;
use solana_keypair::Keypair;
use std::sync::Arc;
use x402_chain_eip155::V2Eip155ExactClient;
use x402_chain_solana::v2_solana_exact::client::V2SolanaExactClient;
use x402_reqwest::{ReqwestWithPayments, ReqwestWithPaymentsBuild, X402Client};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let sandbox: Value = serde_json::from_str(&std::fs::read_to_string(&args[1])?)?;
    let text = |path: &str| sandbox.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();

    let request = match args[3].as_str() {
        "base" => {
            let signer: PrivateKeySigner = text("/payers/base/privateKey").parse()?;
            let client = X402Client::new().register(V2Eip155ExactClient::new(Arc::new(signer)));
            Client::new().with_payments(client).build()
        }
        _ => {
            let key = Keypair::try_from(STANDARD.decode(text("/payers/solana/secretKeyBase64"))?.as_slice())?;
            let rpc = Arc::new(RpcClient::new(text("/solanaRpcUrl")));
            let client = X402Client::new().register(V2SolanaExactClient::new(Arc::new(key), rpc));
            Client::new().with_payments(client).build()
        }
    };
    let answer = request
        .post(format!("{}/attest", text("/serviceUrl")))
        .json(&json!({ "txid": args[2] }))
        .send()
        .await?;
    let status = answer.status().as_u16();
    let receipt: Value = match answer.headers().get("payment-response") {
        Some(header) => serde_json::from_slice(&STANDARD.decode(header)?)?,
        None => Value::Null,
    };
    let bundle: Value = answer.json().await?;
    println!("{}", json!({ "status": status, "bundle": bundle, "receipt": receipt }));
    Ok(())
}
