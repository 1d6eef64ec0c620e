//! How often the answers of a run hold.

use std::path::Path;
use std::sync::Arc;

use becausal_core::env::AnyEnvironment;
use becausal_core::schema::Role;
use becausal_core::{Policy, RandomPolicy};
use becausal_explain::{Acting, Audit, AuditParams, NEGLIGIBLE, audit};

use super::{KeptAudit, Run, RunDirectory};
use crate::error::Error;
use crate::saved_policy::read_policy;

impl Run {
    /// How often the answers hold in the environment, under the run's own policy.
    ///
    /// # Errors
    /// When the run has no environment or no policy ([`audit_at_random`](Self::audit_at_random) needs
    /// none).
    pub fn audit(&self, params: &AuditParams) -> Result<Audit, Error> {
        let policy = self.policy().ok_or_else(|| Error::Missing {
            part: "policy",
            why: "it was fitted to a log without one; fit it with the policy of an agent, or audit it under that of \
                  another run or under random actions"
                .to_owned(),
        })?;
        self.audit_under(policy, params)
    }

    /// Keeps an audit: answers then tell how often such answers were right, and have intervals as wide as it showed that
    /// they have to be. In a run with a folder it is written there, as `audit.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_audit(&mut self, audit: &Audit) -> Result<(), Error> {
        self.audited = Some(KeptAudit::of(audit));
        if let Some(path) = &self.path {
            RunDirectory::open(path)?.write_audit(audit)?;
        }
        Ok(())
    }

    /// How often the answers hold in the environment, under random actions.
    ///
    /// # Errors
    /// When the run has no environment.
    pub fn audit_at_random(&self, params: &AuditParams) -> Result<Audit, Error> {
        let policy = RandomPolicy::new(Arc::clone(&self.schema))?;
        let params = AuditParams { acting: Acting::Sampled, ..params.clone() };
        self.audit_under(&policy, &params)
    }

    /// How often the answers hold in the environment, under the policy of another run ([`read_policy`]).
    ///
    /// # Errors
    /// When there is no policy, it is one for other variables, or this run has no environment.
    pub fn audit_of(&self, folder: impl AsRef<Path>, params: &AuditParams) -> Result<Audit, Error> {
        self.audit_under(&read_policy(folder, &self.schema)?, params)
    }

    /// How often the answers hold in the environment, under any policy.
    ///
    /// # Errors
    /// When the run has no environment.
    pub fn audit_under(&self, policy: &dyn Policy, params: &AuditParams) -> Result<Audit, Error> {
        let environment = self.audited_environment()?;
        let direct = params.direct.clone().or_else(|| self.direct_effects());
        let params = AuditParams { direct, ..params.clone() };
        let audit = audit(environment, &self.model, policy, &self.data, &params);
        policy.check()?;
        Ok(audit?)
    }

    /// Which effects depend directly on the action: by the rules of the environment where they are known, or by trying,
    /// otherwise by the graph that was found.
    fn direct_effects(&self) -> Option<Vec<bool>> {
        let states = self.schema.of_role(Role::State).count();
        let entry = becausal_envs::find(self.schema.name()).ok();
        let entry = entry.filter(|entry| *entry.schema() == *self.schema);
        if let Some(truth) = entry.and_then(becausal_envs::Entry::truth) {
            return Some(truth.graph.iter().map(|row| row[states..].contains(&true)).collect());
        }
        if let Some(trial) = entry.and_then(becausal_envs::Entry::trial) {
            return Some(trial.acted_on(NEGLIGIBLE));
        }
        let graph = self.graph.as_ref()?;
        let mut direct = vec![false; graph.effects().len()];
        for pair in graph.edges().filter(|pair| pair.cause.0 >= states) {
            direct[pair.effect.0] = true;
        }
        Some(direct)
    }

    fn audited_environment(&self) -> Result<&AnyEnvironment, Error> {
        self.needed_environment("counterfactuals cannot be replayed in a file (an audit needs a run of a built-in environment)")
    }
}
