import type { core } from '#api';

export interface PodHostname {
  readonly hostname: string;
  /** `hostname.subdomain.namespace.svc.domain`; empty without a subdomain. */
  readonly domainName: string;
}

const MAX_HOSTNAME = 63;
const MAX_KERNEL_HOSTNAME = 64;

/** A pod's hostname and domain name, by upstream's rules. Throws when an explicit one is too long. */
export function podHostname({ metadata, spec }: core.Pod, clusterDomain: string): PodHostname {
  if (spec?.hostnameOverride) return { hostname: spec.hostnameOverride, domainName: '' };
  const hostname = truncated(spec?.hostname || metadata.name, metadata.name);
  if (!spec?.subdomain) return { hostname, domainName: '' };
  return { hostname, domainName: `${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}` };
}

/** The hostname for the kernel. Throws when it is too long. */
export function kernelHostname(pod: core.Pod, clusterDomain: string): string {
  const { hostname, domainName } = podHostname(pod, clusterDomain);
  if (domainName === '' || pod.spec?.setHostnameAsFQDN !== true) return hostname;
  const full = `${hostname}.${domainName}`;
  if (full.length > MAX_KERNEL_HOSTNAME) {
    const problem = `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${MAX_KERNEL_HOSTNAME} characters is the max, ${full.length} characters requested)`;
    throw new Error(problem);
  }
  return full;
}

function truncated(hostname: string, podName: string): string {
  if (hostname.length <= MAX_HOSTNAME) return hostname;
  const cut = hostname.slice(0, MAX_HOSTNAME).replace(/[-.]{1,63}$/, '');
  if (cut === '') throw new Error(`hostname for pod ${JSON.stringify(podName)} was invalid: ${JSON.stringify(hostname)}`);
  return cut;
}
