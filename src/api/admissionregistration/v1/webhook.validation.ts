import { pushAll } from '#base';
import { checkDns1035Label, FieldError, itemErrors, nameIsDnsSubdomain, Path, validateFullyQualifiedName } from '#machinery';
import { invalidErrors, markDuplicates, sameValue, supportedValue } from '../../field-checks.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { hasRecognizedReviewVersion, REVIEW_VERSIONS, validateWebhookClient } from '../../webhook-client.validation.ts';
import { validateMatchConditions } from './expression.validation.ts';
import type { MutatingWebhook, MutatingWebhookConfiguration } from './mutating-webhook-configuration.ts';
import { FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES, validateRule } from './rule.validation.ts';
import type { ValidatingWebhook, ValidatingWebhookConfiguration } from './validating-webhook-configuration.ts';

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const OLD_SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const WEBHOOKS = Path.of('webhooks');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain, anyFinalizer: true };

type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;
interface Configuration {
  readonly metadata: ValidatingWebhookConfiguration['metadata'];
  readonly webhooks?: readonly Webhook[];
}

/** Values of a stored configuration that newer rules would reject. */
interface Rules {
  readonly ignoreMatchConditions: boolean;
  readonly sideEffects: readonly string[];
  readonly requireRecognizedVersion: boolean;
  readonly requireUniqueNames: boolean;
  readonly allowInvalidValues: boolean;
}

const STRICT: Rules = {
  ignoreMatchConditions: false,
  sideEffects: SIDE_EFFECTS,
  requireRecognizedVersion: true,
  requireUniqueNames: true,
  allowInvalidValues: false,
};

export const validateValidatingWebhookConfiguration = (configuration: ValidatingWebhookConfiguration) => validate(configuration, STRICT);
export const validateMutatingWebhookConfiguration = (configuration: MutatingWebhookConfiguration) => validate(configuration, STRICT);
export const validateValidatingWebhookConfigurationUpdate = (
  configuration: ValidatingWebhookConfiguration,
  old: ValidatingWebhookConfiguration,
) => validate(configuration, rulesFor(configuration.webhooks ?? [], old.webhooks ?? []));
export const validateMutatingWebhookConfigurationUpdate = (
  configuration: MutatingWebhookConfiguration,
  old: MutatingWebhookConfiguration,
) => validate(configuration, rulesFor(configuration.webhooks ?? [], old.webhooks ?? []));

function rulesFor(webhooks: readonly Webhook[], old: readonly Webhook[]): Rules {
  const sameConditions =
    webhooks.length === old.length && old.every((webhook, i) => sameValue(webhook.matchConditions, webhooks[i]?.matchConditions));
  const names = old.map(({ name }) => name);
  const isStrict = old.every(({ sideEffects }) => SIDE_EFFECTS.includes(sideEffects ?? ''));
  return {
    ignoreMatchConditions: sameConditions,
    sideEffects: isStrict ? SIDE_EFFECTS : OLD_SIDE_EFFECTS,
    requireRecognizedVersion: old.every(
      ({ admissionReviewVersions: versions }) => !versions?.length || hasRecognizedReviewVersion(versions),
    ),
    requireUniqueNames: new Set(names).size === names.length,
    allowInvalidValues: old.some(
      ({ namespaceSelector, objectSelector }) =>
        validateLabelSelector(namespaceSelector, WEBHOOKS).length + validateLabelSelector(objectSelector, WEBHOOKS).length > 0,
    ),
  };
}

function validate({ metadata, webhooks = [] }: Configuration, rules: Rules): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const names = new Set<string>();
  const ofWebhooks = itemErrors(webhooks, (webhook, i) => {
    const path = WEBHOOKS.index(i);
    const own = validateWebhook(path, webhook, rules);
    pushAll(own, validateVersions(path.child('admissionReviewVersions'), webhook.admissionReviewVersions ?? [], rules));
    if (!rules.requireUniqueNames || !webhook.name) return own;
    if (names.has(webhook.name)) own.push(FieldError.duplicate(path.child('name'), webhook.name));
    names.add(webhook.name);
    return own;
  });
  return [...errors, ...ofWebhooks];
}

function validateWebhook(path: Path, webhook: Webhook, rules: Rules): FieldError[] {
  const { failurePolicy, matchPolicy, reinvocationPolicy } = webhook;
  const value = (field: string, actual: string | undefined, supported: readonly string[]) =>
    actual === undefined ? [] : supportedValue(path.child(field), actual, supported);
  return [
    ...validateFullyQualifiedName(path.child('name'), webhook.name ?? ''),
    ...(webhook.rules ?? []).flatMap((rule, i) => validateRule(path.child('rules').index(i), rule)),
    ...value('failurePolicy', failurePolicy, FAILURE_POLICIES),
    ...value('matchPolicy', matchPolicy, MATCH_POLICIES),
    ...validateSideEffects(path.child('sideEffects'), webhook.sideEffects ?? undefined, rules.sideEffects),
    ...validateTimeout(path.child('timeoutSeconds'), webhook.timeoutSeconds),
    ...validateLabelSelector(webhook.namespaceSelector, path.child('namespaceSelector'), rules),
    ...validateLabelSelector(webhook.objectSelector, path.child('objectSelector'), rules),
    ...value('reinvocationPolicy', reinvocationPolicy, REINVOCATION_POLICIES),
    ...validateWebhookClient(path.child('clientConfig'), webhook.clientConfig ?? {}),
    ...(rules.ignoreMatchConditions ? [] : validateMatchConditions(path.child('matchConditions'), webhook.matchConditions ?? [], false)),
  ];
}

function validateSideEffects(path: Path, sideEffects: string | undefined, allowed: readonly string[]): readonly FieldError[] {
  if (sideEffects === undefined) return [FieldError.required(path, `must specify one of ${allowed.join(', ')}`)];
  return supportedValue(path, sideEffects, allowed);
}

function validateTimeout(path: Path, seconds: number | undefined): FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= 30)) return [];
  return [FieldError.invalid(path, seconds, 'the timeout value must be between 1 and 30 seconds')];
}

function validateVersions(path: Path, versions: readonly string[], { requireRecognizedVersion }: Rules): FieldError[] {
  if (versions.length === 0) return [FieldError.required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  const repeated = markDuplicates(versions);
  const errors = itemErrors(versions, (version, i) =>
    repeated[i]
      ? [FieldError.invalid(path.index(i), version, 'duplicate version')]
      : invalidErrors(path.index(i), version, checkDns1035Label(version)),
  );
  if (!requireRecognizedVersion || hasRecognizedReviewVersion(versions)) return errors;
  return [...errors, FieldError.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`)];
}
