export { type Amounts, addAmounts, amountsOf, listOfAmounts, maxAmounts } from './amounts.ts';
export { calculateUsage, type UsageInput } from './calculate-usage.ts';
export { type DeviceLookup, deviceClaimEvaluator, volumeClaimEvaluator } from './claim-evaluators.ts';
export { type Countable, objectCountName, type QuotaEvaluator } from './evaluator.ts';
export { isQuotable, objectCountEvaluator } from './object-count-evaluator.ts';
export { countsAsRunning, isTerminating, podEvaluator, resourceUsage } from './pod-evaluator.ts';
export { podLimits, podRequests } from './pod-resources.ts';
export { namesMatchScope, scopeRequirements } from './scope-selector.ts';
export { serviceEvaluator } from './service-evaluator.ts';
