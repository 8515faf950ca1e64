import { checkDns1123Subdomain, checkDns1123SubdomainWithUnderscore } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { validateLegacyIp } from '../../../ip.validation.ts';
import type { HostAlias, PodDNSConfig, PodSpec } from './pod-spec.ts';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LENGTH = 2048;
const MAX_HOSTNAME_OVERRIDE = 64;

export function validateDNSConfig({ dnsPolicy, dnsConfig }: PodSpec, at: FieldReport): void {
  if (dnsPolicy === 'None' && !dnsConfig) {
    at.required('must provide `dnsConfig` when `dnsPolicy` is None');
    return;
  }
  if (dnsPolicy === 'None' && !dnsConfig?.nameservers?.length) {
    at.child('nameservers').required('must provide at least one DNS nameserver when `dnsPolicy` is None');
    return;
  }
  if (dnsConfig) validateResolver(dnsConfig, at);
}

function validateResolver({ nameservers = [], searches = [], options = [] }: PodDNSConfig, at: FieldReport): void {
  if (nameservers.length > MAX_NAMESERVERS) {
    at.child('nameservers').invalid(nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  }
  nameservers.forEach((server, i) => {
    at.add(validateLegacyIp(at.child('nameservers').index(i).path, server));
  });
  validateSearches(searches, at.child('searches'));
  options.forEach(({ name }, i) => {
    if (!name) at.child('options').index(i).required('must not be empty');
  });
}

function validateSearches(searches: readonly string[], at: FieldReport): void {
  if (searches.length > MAX_SEARCHES) at.invalid(searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_LENGTH) {
    at.invalid(searches, `must not have more than ${MAX_SEARCH_LENGTH} characters (including spaces) in the search list`);
  }
  searches.forEach((search, i) => {
    if (search === '.') return;
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    at.index(i).problems(domain, checkDns1123SubdomainWithUnderscore(domain));
  });
}

export function validateHostAliases(aliases: readonly HostAlias[], at: FieldReport): void {
  aliases.forEach(({ ip, hostnames = [] }, i) => {
    at.add(validateLegacyIp(at.index(i).child('ip').path, ip ?? ''));
    hostnames.forEach((hostname, j) => {
      at.index(i).child('hostnames').index(j).problems(hostname, checkDns1123Subdomain(hostname));
    });
  });
}

export function validateHostnameOverride({ hostnameOverride, setHostnameAsFQDN, hostNetwork }: PodSpec, at: FieldReport): void {
  if (hostnameOverride === undefined) return;
  if (setHostnameAsFQDN) at.forbidden('may not be specified when setHostnameAsFQDN is true');
  if (hostNetwork) at.forbidden('may not be specified when hostNetwork is true');
  if (Buffer.byteLength(hostnameOverride) > MAX_HOSTNAME_OVERRIDE) at.tooLong(MAX_HOSTNAME_OVERRIDE);
  at.problems(hostnameOverride, checkDns1123Subdomain(hostnameOverride));
}
