//! Whose choices a run is about, and where they are made.

use std::path::Path;
use std::sync::Arc;

use becausal_core::env::AnyEnvironment;
use becausal_core::{Environment, Policy, Schema};
use becausal_learn::ActorCritic;

use super::Run;
use crate::error::Error;
use crate::record::Record;
use crate::saved_policy::{PolicyOwner, read_policy};

impl Run {
    /// The policy; `None` in a run that was fitted to a log and was given none.
    #[must_use]
    pub fn policy(&self) -> Option<&dyn Policy> {
        match &self.agent {
            Some(agent) => Some(agent.as_ref()),
            None => self.policy.as_ref().map(|policy| policy as &dyn Policy),
        }
    }

    /// The same run with an agent that was made elsewhere: questions, episodes and audits are about it.
    /// It is not part of what [`save`](Self::save) writes.
    ///
    /// # Errors
    /// When it is an agent for other variables.
    pub fn with_policy(self, agent: Arc<dyn Policy + Send>) -> Result<Self, Error> {
        self.check_schema("policy", agent.schema())?;
        // An audit that was kept was of the run's own policy, or of an agent that nobody can tell from this one.
        Ok(Self { agent: Some(agent), audited: None, ..self })
    }

    /// The same run with the policy that lies in another one (see [`read_policy`]): questions, episodes and audits are
    /// about that agent. It is not part of what [`save`](Self::save) writes.
    ///
    /// # Errors
    /// When there is no policy, or it is one for another schema.
    pub fn with_policy_of(self, path: impl AsRef<Path>) -> Result<Self, Error> {
        let policy = read_policy(path, &self.schema)?;
        self.with_policy(Arc::new(policy))
    }

    /// The same run with the policy of the agent that it was fitted for.
    pub(crate) fn of_agent(self, policy: Option<ActorCritic>) -> Self {
        Self { policy, ..self }
    }

    /// The policy of the training, or of the agent that the fit was given. `None` where there is none, or where an agent
    /// that was made elsewhere takes its place.
    #[must_use]
    pub fn own_policy(&self) -> Option<&ActorCritic> {
        self.policy.as_ref().filter(|_| self.agent.is_none())
    }

    /// Whose policy answers, new episodes and audits are about; `None` in a run without one.
    #[must_use]
    pub fn policy_owner(&self) -> Option<PolicyOwner> {
        self.policy()?;
        Some(match &self.record {
            _ if self.agent.is_some() => PolicyOwner::Agent(None),
            Record::Fit(fit) => PolicyOwner::Agent(fit.policy.clone()),
            Record::Train(_) => PolicyOwner::Training,
        })
    }

    /// The same run with the environment that was recorded, where it is not a built-in one. It is not part
    /// of what [`save`](Self::save) writes.
    ///
    /// # Errors
    /// When it is one of other variables.
    pub fn with_environment(self, environment: AnyEnvironment) -> Result<Self, Error> {
        self.check_schema("environment", Environment::schema(&environment))?;
        Ok(Self { environment: Some(environment), ..self })
    }

    fn check_schema(&self, parameter: &'static str, other: &Schema) -> Result<(), Error> {
        if other.variables() == self.schema.variables() {
            return Ok(());
        }
        let names = |schema: &Schema| {
            let names: Vec<&str> = schema.variables().iter().map(|v| v.name.as_str()).collect();
            names.join(", ")
        };
        Err(Error::Parameter {
            parameter,
            expected: "one of the variables of the run",
            got: format!("one of {}, while the run is of {}", names(other), names(&self.schema)),
        })
    }

    /// An answer counts only if the policy could say what it would do.
    pub(crate) fn checked<T>(&self, answer: T) -> Result<T, Error> {
        if let Some(agent) = &self.agent {
            agent.check()?;
        }
        Ok(answer)
    }

    /// The environment, with the options it was recorded with; `None` where the data come from elsewhere.
    #[must_use]
    pub fn environment(&self) -> Option<&AnyEnvironment> {
        self.environment.as_ref()
    }
}
