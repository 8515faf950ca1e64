import { authorization, certificates } from '#api';
import { type Authority, type KeyPair, loadAuthority, repeat } from '#base';
import { formatTime } from '#machinery';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { issueCertificate } from './issue-certificate.ts';
import { type ApprovalRule, approvalRules, isOutdated, lifetimeMs, signingAction } from './reconcile.ts';
import { SIGNERS, type SigningRequest, withCondition } from './signing-request.ts';

const Kind = certificates.CertificateSigningRequest;
const WORKERS = 5;
const CLEANING_INTERVAL_MS = 3_600_000;

/** Approves kubelet certificate requests if the requestor has the permission. */
export const csrApprovingController: Controller = {
  name: 'certificatesigningrequest-approving-controller',
  aliases: ['csrapproving'],
  enabledByDefault: true,
  start: (context) => keyed(context, (request) => approve(request, context)),
};

/** Signs approved requests for the signers that are built in. */
export const csrSigningController: Controller = {
  name: 'certificatesigningrequest-signing-controller',
  aliases: ['csrsigning'],
  enabledByDefault: true,
  start(context) {
    const authorities = authoritiesOf(context.options.clusterSigning ?? {});
    return authorities.size === 0 ? undefined : keyed(context, (request) => sign(request, authorities, context));
  },
};

/** Deletes outdated certificate requests. */
export const csrCleanerController: Controller = {
  name: 'certificatesigningrequest-cleaner-controller',
  aliases: ['csrcleaner'],
  enabledByDefault: true,
  start(context) {
    const { informers, clock, signal, logger } = context;
    const requests = informers.of(Kind);
    const onError = (error: unknown) => logger.error('cannot clean up certificate signing requests', { error });
    return {
      run: () => repeat({ clock, signal, intervalMs: CLEANING_INTERVAL_MS, onError }, () => clean(requests.lister.list(), context)),
    };
  },
};

function keyed(context: ControllerContext, handle: (request: SigningRequest) => Promise<void>): KeyedController {
  const requests = context.informers.of(Kind);
  const controller = new KeyedController(context, {
    name: 'certificate',
    objects: requests.lister,
    concurrency: WORKERS,
    async sync(name) {
      const request = requests.lister.get({ name });
      if (request !== undefined) await handle(request);
    },
  });
  requests.addHandler(controller.handler());
  return controller;
}

async function approve(request: SigningRequest, context: ControllerContext): Promise<void> {
  const rules = approvalRules(request);
  for (const { right, message } of rules) {
    if (!(await isAllowed(request, right, context))) continue;
    const approved = withCondition(request, { type: 'Approved', status: 'True', reason: 'AutoApproved', message });
    await context.client.of(Kind).subresource('approval').update(request.metadata, approved);
    return;
  }
  if (rules.length === 0) return;
  const subresources = rules.map(({ right }) => right.subresource).join(' ');
  // The permission may still be granted: retry.
  throw new Error(`recognized csr "${request.metadata.name}" as [${subresources}] but subject access review was not approved`);
}

async function isAllowed({ spec }: SigningRequest, right: ApprovalRule['right'], { client }: ControllerContext): Promise<boolean> {
  const { username, uid, groups, extra } = spec;
  const subject = { ...(username && { user: username }), ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
  const review = await client.of(authorization.SubjectAccessReview).create({ spec: { ...subject, resourceAttributes: right } });
  return review.status?.allowed === true;
}

/** The signing keys. Specific keys for some signers disable the others. */
export interface ClusterSigningOptions {
  readonly authority?: KeyPair;
  /** By the name of the signer. */
  readonly authorities?: Readonly<Record<string, KeyPair>>;
  /** The longest life of a certificate. Default a year. */
  readonly durationMs?: number;
}

const YEAR_MS = 365 * 24 * 3_600_000;

function authoritiesOf({ authority, authorities }: ClusterSigningOptions): ReadonlyMap<string, Authority> {
  const entries = Object.entries(authorities ?? {});
  if (entries.length > 0) {
    if (authority !== undefined) throw new Error('cannot specify default and per controller certs at the same time');
    return new Map(entries.map(([signer, pair]) => [signer, loadAuthority(pair)]));
  }
  // Half of a pair is no authority, as upstream.
  if (!authority?.certificate || !authority.key) return new Map();
  const loaded = loadAuthority(authority);
  return new Map(Object.values(SIGNERS).map((signer) => [signer, loaded]));
}

async function sign(request: SigningRequest, authorities: ReadonlyMap<string, Authority>, context: ControllerContext): Promise<void> {
  const { client, clock, random, options } = context;
  const action = signingAction(request, new Set(authorities.keys()));
  if (action.type === 'none') return;
  const now = clock.now();
  if (action.type === 'fail') {
    const failure = {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message: action.message,
      lastUpdateTime: formatTime(now),
    };
    await client.of(Kind).updateStatus(withCondition(request, failure));
    return;
  }
  const lifetime = lifetimeMs(request, options.clusterSigning?.durationMs ?? YEAR_MS);
  const usages = request.spec.usages ?? [];
  const authority = authorities.get(request.spec.signerName)!;
  const certificate = issueCertificate(action.requested, authority, { usages, lifetimeMs: lifetime, now, random });
  const status = { ...request.status, certificate: Buffer.from(certificate).toString('base64') };
  await client.of(Kind).updateStatus({ ...request, status });
}

async function clean(requests: Iterable<SigningRequest>, { client, clock, logger }: ControllerContext): Promise<void> {
  for (const request of requests) {
    try {
      if (isOutdated(request, clock.now())) await client.of(Kind).delete(request.metadata);
    } catch (error) {
      logger.warn('cannot delete a certificate signing request', { name: request.metadata.name, error });
    }
  }
}
