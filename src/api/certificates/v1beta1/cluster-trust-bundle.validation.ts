import { X509Certificate } from 'node:crypto';
import { type PemBlock, pemBlocks } from '#base';
import { FieldError, type NameCheck, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateSignerName } from '../v1/certificate-signing-request.validation.ts';
import type { ClusterTrustBundle } from './cluster-trust-bundle.ts';

const SIGNER = Path.of('spec', 'signerName');
const BUNDLE = Path.of('spec', 'trustBundle');
const MAX_BYTES = 1024 * 1024;

export function validateClusterTrustBundle(bundle: ClusterTrustBundle): FieldError[] {
  return [...validateNames(bundle), ...validateCertificates(bundle.spec?.trustBundle ?? '')];
}

/** An unchanged bundle is not parsed: an older server may have accepted it. */
export function validateClusterTrustBundleUpdate(bundle: ClusterTrustBundle, old: ClusterTrustBundle): FieldError[] {
  const isSame = bundle.spec?.trustBundle === old.spec?.trustBundle;
  return [
    ...validateNames(bundle),
    ...(isSame ? [] : validateCertificates(bundle.spec?.trustBundle ?? '')),
    ...validateObjectMetaUpdate(bundle.metadata, old.metadata),
    ...immutable(SIGNER, { value: bundle.spec?.signerName ?? '', old: old.spec?.signerName ?? '' }),
  ];
}

function validateNames({ metadata, spec }: ClusterTrustBundle): FieldError[] {
  const signer = spec?.signerName ?? '';
  const errors = validateObjectMeta(metadata, { namespaced: false, nameRule: nameRuleOf(signer) });
  return signer === '' ? errors : [...errors, ...validateSignerName(SIGNER, signer)];
}

/** The name of a signer's bundle starts with the signer's name. */
function nameRuleOf(signer: string): NameCheck {
  if (signer === '') {
    const problem = 'ClusterTrustBundle without signer name must not have ":" in its name';
    return (name, prefix) => (name.includes(':') ? [problem] : nameIsDnsSubdomain(name, prefix));
  }
  const start = `${signer.replaceAll('/', ':')}:`;
  const problem = `ClusterTrustBundle for signerName ${signer} must be named with prefix ${start}`;
  return (name, prefix) => (name.startsWith(start) ? nameIsDnsSubdomain(name.slice(start.length), prefix) : [problem]);
}

function validateCertificates(pem: string): FieldError[] {
  if (Buffer.byteLength(pem) > MAX_BYTES) return [FieldError.tooLong(BUNDLE, MAX_BYTES)];
  const blocks = [...pemBlocks(pem)];
  const problems = blocks.flatMap((block, i) => {
    const problem = blockProblem(block);
    return problem === undefined ? [] : [`entry ${i} ${problem}`];
  });
  return (problems.length > 0 ? problems : anchorProblems(blocks)).map((problem) => FieldError.invalid(BUNDLE, OMITTED_VALUE, problem));
}

const OMITTED_VALUE = '<value omitted>';

function blockProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  const certificate = certificateOf(bytes);
  if (certificate === undefined) return 'does not parse as X.509';
  return certificate.ca ? undefined : 'does not have the CA bit set';
}

function certificateOf(bytes: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

function anchorProblems(blocks: readonly PemBlock[]): readonly string[] {
  if (blocks.length === 0) return ['at least one trust anchor must be provided'];
  const places = new Map<string, number[]>();
  for (const [i, { bytes }] of blocks.entries()) {
    const id = Buffer.from(bytes).toString('latin1');
    places.set(id, [...(places.get(id) ?? []), i]);
  }
  const repeated = [...places.values()].filter((indices) => indices.length > 1);
  return repeated.map((indices) => `duplicate trust anchor (indices [${indices.join(' ')}])`);
}
