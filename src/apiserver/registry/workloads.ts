import { controllerRevisionsStrategy } from './apps/controller-revisions.ts';
import { daemonSetsStrategy } from './apps/daemon-sets.ts';
import { deploymentsStrategy } from './apps/deployments.ts';
import { replicaSetsStrategy } from './apps/replica-sets.ts';
import { statefulSetsStrategy } from './apps/stateful-sets.ts';
import { horizontalPodAutoscalersStrategy, horizontalPodAutoscalersV1Strategy } from './autoscaling/horizontal-pod-autoscalers.ts';
import { cronJobsStrategy } from './batch/cron-jobs.ts';
import { jobsStrategy } from './batch/jobs.ts';
import { podTemplatesStrategy } from './core/pod-templates.ts';
import { podsStrategy } from './core/pods.ts';
import { replicationControllersStrategy } from './core/replication-controllers.ts';
import { podDisruptionBudgetsStrategy } from './policy/pod-disruption-budgets.ts';

/** Pods, and every kind that makes, scales or protects them. */
export const WORKLOAD_STRATEGIES = [
  podsStrategy,
  podTemplatesStrategy,
  replicationControllersStrategy,
  controllerRevisionsStrategy,
  daemonSetsStrategy,
  deploymentsStrategy,
  replicaSetsStrategy,
  statefulSetsStrategy,
  jobsStrategy,
  cronJobsStrategy,
  horizontalPodAutoscalersStrategy,
  horizontalPodAutoscalersV1Strategy,
  podDisruptionBudgetsStrategy,
] as const;
