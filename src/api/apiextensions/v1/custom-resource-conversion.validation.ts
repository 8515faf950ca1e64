import { checkDns1035Label, FieldError, type Path } from '#machinery';
import { caBundleProblem, validateCABundle } from '../../ca-bundle.validation.ts';
import { markDuplicates, requiredValue } from '../../field-checks.ts';
import { hasRecognizedReviewVersion, REVIEW_VERSIONS, validateWebhookClient } from '../../webhook-client.validation.ts';
import type { CustomResourceConversion, WebhookClientConfig } from './custom-resource-definition-spec.ts';

export interface ConversionRules {
  /** The review versions must include one that this server supports. */
  readonly requireRecognizedVersion: boolean;
  /** A served definition must have a reachable webhook. */
  readonly requireValidCABundle: boolean;
}

const STRATEGIES = ['None', 'Webhook'];
const HTTPS_PORT = 443;

export function validateConversion(conversion: CustomResourceConversion | undefined, path: Path, rules: ConversionRules): FieldError[] {
  if (conversion === undefined) return [];
  const errors = [...requiredValue(path.child('strategy'), conversion.strategy, STRATEGIES)];
  const { clientConfig, conversionReviewVersions = [] } = conversion.webhook ?? {};
  const clientPath = path.child('webhookClientConfig');
  const versionsPath = path.child('conversionReviewVersions');
  if (conversion.strategy === 'Webhook') {
    return [
      ...errors,
      ...validateClient(clientConfig, clientPath, rules),
      ...validateReviewVersions(conversionReviewVersions, versionsPath, rules),
    ];
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (clientConfig !== undefined) errors.push(FieldError.forbidden(clientPath, detail));
  if ((conversionReviewVersions ?? []).length > 0) errors.push(FieldError.forbidden(versionsPath, detail));
  return errors;
}

function validateClient(client: WebhookClientConfig | undefined, path: Path, rules: ConversionRules): FieldError[] {
  if (client === undefined) return [FieldError.required(path, 'required when strategy is set to Webhook')];
  const errors = validateWebhookClient(path, client.service ? { ...client, service: { port: HTTPS_PORT, ...client.service } } : client);
  return rules.requireValidCABundle ? [...errors, ...validateCABundle(path.child('caBundle'), client.caBundle ?? '')] : errors;
}

/** Whether the conversion's CA bundle is valid; true without a webhook or a bundle. */
export function hasValidCABundle(conversion: CustomResourceConversion | undefined): boolean {
  return caBundleProblem(conversion?.webhook?.clientConfig?.caBundle ?? '') === undefined;
}

function validateReviewVersions(
  versions: readonly string[] | null,
  path: Path,
  { requireRecognizedVersion }: ConversionRules,
): FieldError[] {
  if (versions === null || versions.length === 0) return [FieldError.required(path)];
  const errors: FieldError[] = [];
  const repeated = markDuplicates(versions);
  for (const [i, version] of versions.entries()) {
    if (repeated[i]) errors.push(FieldError.invalid(path.index(i), version, 'duplicate version'));
    else for (const problem of checkDns1035Label(version)) errors.push(FieldError.invalid(path.index(i), version, problem));
  }
  if (requireRecognizedVersion && !hasRecognizedReviewVersion(versions)) {
    errors.push(FieldError.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}
