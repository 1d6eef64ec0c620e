use becausal_core::env::Environment;
fn main(){
    let mut env=becausal_envs::find("LunarLander-v3").unwrap().make(&Default::default()).unwrap();
    env.reset(0); let mut x:u64=12345; let mut ep=0;
    let n: usize = std::env::args().nth(1).and_then(|a|a.parse().ok()).unwrap_or(3000);
    let t=std::time::Instant::now();
    for _ in 0..n { x=x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); let a=((x>>33)%4) as f64; let s=env.step(&[a]).unwrap(); if s.terminated||s.truncated {ep+=1; env.reset(ep);} }
    eprintln!("{:?} per step", t.elapsed()/n as u32);
}
