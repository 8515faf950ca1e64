import { goQuote, isJsonObject, type JsonObject, type JsonValue } from '#machinery';
import { admissionRequest } from '../expressions/admission-request.ts';
import type { VersionedRequest } from '../matching/versioned-request.ts';

const GROUP = 'admission.k8s.io';
const REVIEW_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);

/** The first AdmissionReview version that both the webhook and this server support. */
export function reviewVersion(versions: readonly string[] | undefined): string {
  const version = versions?.find((candidate) => REVIEW_VERSIONS.has(candidate));
  if (version !== undefined) return version;
  throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
}

/** The AdmissionReview that is sent to a webhook. */
export function admissionReview(request: VersionedRequest, { uid, version }: { uid: string; version: string }): JsonObject {
  const { dryRun, options, ...about } = admissionRequest(request);
  const { object, oldObject } = request;
  const reviewRequest = { uid, ...about, object, oldObject, dryRun, options };
  return { kind: 'AdmissionReview', apiVersion: `${GROUP}/${version}`, request: reviewRequest as unknown as JsonValue };
}

/** A validated webhook response. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** The patch, decoded from base64; empty if there is none. */
  readonly patch: Buffer;
  readonly patchType: string;
}

export interface ExpectedResponse {
  readonly uid: string;
  readonly version: string;
  readonly mayPatch: boolean;
}

/** Throws an Error that describes an invalid response. */
export function checkResponse(review: JsonObject, expected: ExpectedResponse): ReviewResponse {
  const { response } = review;
  if (!isJsonObject(response)) throw new Error('webhook response was absent');
  const patch = Buffer.from(typeof response.patch === 'string' ? response.patch : '', 'base64');
  const patchType = typeof response.patchType === 'string' ? response.patchType : undefined;
  if (expected.version === 'v1') checkStrictly(review, response, { expected, patch, patchType });
  return {
    allowed: response.allowed === true,
    result: isJsonObject(response.status) ? response.status : undefined,
    warnings: Array.isArray(response.warnings) ? response.warnings.filter((warning) => typeof warning === 'string') : [],
    auditAnnotations: annotationsOf(response.auditAnnotations),
    patch: expected.mayPatch ? patch : Buffer.alloc(0),
    patchType: expected.version === 'v1' ? (patchType ?? '') : 'JSONPatch',
  };
}

interface PatchResponse {
  readonly expected: ExpectedResponse;
  readonly patch: Buffer;
  readonly patchType: string | undefined;
}

/** v1beta1 responses were never checked. */
function checkStrictly({ apiVersion, kind }: JsonObject, response: JsonObject, { expected, patch, patchType }: PatchResponse): void {
  const uid = typeof response.uid === 'string' ? response.uid : '';
  if (uid !== expected.uid) throw new Error(`expected response.uid=${goQuote(expected.uid)}, got ${goQuote(uid)}`);
  if (apiVersion !== `${GROUP}/v1` || kind !== 'AdmissionReview') {
    throw new Error(`expected webhook response of ${GROUP}/v1, Kind=AdmissionReview, got ${versionText(apiVersion)}, Kind=${textOf(kind)}`);
  }
  if (expected.mayPatch) checkPatch(patch, patchType);
  else if (patch.length > 0) throw new Error('validating webhook may not return response.patch');
  else if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType');
}

function checkPatch(patch: Buffer, patchType: string | undefined): void {
  if (patch.length > 0 && patchType === undefined) throw new Error('webhook returned response.patch but not response.patchType');
  if (patch.length === 0 && patchType !== undefined) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function versionText(apiVersion: JsonValue | undefined): string {
  const text = textOf(apiVersion);
  return text.includes('/') ? text : `/${text}`;
}

function annotationsOf(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
