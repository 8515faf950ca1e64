import { checkDns1123Subdomain } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import type { Container } from '../container/container.ts';
import type { WindowsSecurityContextOptions } from '../container/security-context.ts';
import type { PodSpec } from './pod-spec.ts';

const MAX_CREDENTIAL_SPEC_KIB = 64;
const MAX_DOMAIN_LENGTH = 256;
const MAX_USER_LENGTH = 104;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\x00-\x1f\x7f]/;
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
// bounded: no label repeats without a dot, which no label has.
const DNS_DOMAIN = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);
const BAD_USER_CHARACTERS = /["/\\:;|=,+*?<>@[\]]/;
const DOTS_AND_SPACES = /^[. ]+$/;

export function validateWindowsOptions(options: WindowsSecurityContextOptions, at: FieldReport): void {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName } = options;
  if (specName !== undefined) at.child('gmsaCredentialSpecName').problems(specName, checkDns1123Subdomain(specName));
  if (spec === '') at.child('gmsaCredentialSpec').invalid(spec, 'gmsaCredentialSpec cannot be an empty string');
  else if (spec !== undefined && Buffer.byteLength(spec) > MAX_CREDENTIAL_SPEC_KIB * 1024) {
    at.child('gmsaCredentialSpec').invalid(spec, `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_KIB} KiB`);
  }
  if (runAsUserName === undefined) return;
  for (const problem of userNameProblems(runAsUserName)) at.child('runAsUserName').invalid(runAsUserName, problem);
}

function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (CONTROL.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [user = '', domain] = [parts.at(-1), parts.length === 2 ? parts[0] : undefined];
  return [...domainProblems(domain), ...userProblems(user)];
}

function domainProblems(domain: string | undefined): string[] {
  if (domain === undefined) return [];
  const problems: string[] = [];
  if (domain.length >= MAX_DOMAIN_LENGTH) problems.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN_LENGTH} characters`);
  if (!NETBIOS.test(domain) && !DNS_DOMAIN.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  return problems;
}

function userProblems(user: string): string[] {
  const problems: string[] = [];
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (user.length > MAX_USER_LENGTH) {
    problems.push(`runAsUserName's User length must not be longer than ${MAX_USER_LENGTH} characters`);
  }
  if (DOTS_AND_SPACES.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (BAD_USER_CHARACTERS.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return problems;
}

/** All containers of a pod must be host process containers or none, with host networking. */
export function validateHostProcess(spec: PodSpec, at: FieldReport, visit: (each: ContainerVisitor) => void): void {
  const podValue = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let hostProcesses = 0;
  visit((container, field) => {
    containers++;
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (own ?? podValue) hostProcesses++;
    if (podValue === undefined || own === undefined || podValue === own) return;
    const detail = `pod hostProcess value must be identical if both are specified, was ${podValue}`;
    field().child('securityContext').child('windowsOptions').child('hostProcess').invalid(own, detail);
  });
  if (hostProcesses === 0) return;
  if (hostProcesses !== containers) {
    at.invalid('', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  }
  if (!spec.hostNetwork) at.child('hostNetwork').invalid(false, 'hostNetwork must be true if pod contains any hostProcess containers');
}

/** Called with each container and a function that creates its field, since few visitors report anything. */
export type ContainerVisitor = (
  container: Pick<Container, 'name' | 'securityContext' | 'volumeDevices' | 'env'>,
  field: () => FieldReport,
) => void;
