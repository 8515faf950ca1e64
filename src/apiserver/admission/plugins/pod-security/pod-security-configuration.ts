import { type NamespacePolicy, PRIVILEGED_POLICY } from './namespace-policy.ts';

/** Whom and what no standard applies to. */
export interface PodSecurityExemptions {
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

export interface PodSecurityConfiguration {
  /** The standards of namespaces without labels. */
  readonly defaults: NamespacePolicy;
  readonly exemptions: PodSecurityExemptions;
}

export const NO_EXEMPTIONS: PodSecurityExemptions = { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() };

export const DEFAULT_POD_SECURITY: PodSecurityConfiguration = { defaults: PRIVILEGED_POLICY, exemptions: NO_EXEMPTIONS };
