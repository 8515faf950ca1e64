import type { Clock } from '#base';
import type { ClientCertificate } from '../request/api-request.ts';
import { authenticated, CREDENTIAL_ID, type UserInfo } from '../request/user.ts';
import type { Authenticator } from './authenticator.ts';
import { isIssuedBy } from './certificate-authorities.ts';

/**
 * Authenticates client certificates: the common name is the user, the organizations are the groups. `authorities` (PEM) is needed if the
 * server also trusts CAs for other purposes, such as front proxies.
 */
export function clientCertificates(clock: Clock, authorities?: () => string): Authenticator {
  const users = new WeakMap<ClientCertificate, UserInfo>();
  return {
    authenticate({ clientCertificate: certificate }) {
      if (certificate === undefined) return undefined;
      if (certificate.problem !== undefined) throw new Error(`verifying the client certificate failed: ${certificate.problem}`);
      if (authorities !== undefined && !isIssuedBy(certificate, authorities())) return undefined;
      if (clock.now() > certificate.notAfter) throw new Error('the client certificate has expired');
      if (certificate.commonName === '') return undefined;
      let user = users.get(certificate);
      if (user === undefined) {
        user = userOf(certificate);
        users.set(certificate, user);
      }
      return user;
    },
  };
}

function userOf({ commonName, organizations, uids, fingerprint }: ClientCertificate): UserInfo {
  if (uids.length > 1) throw new Error(`expected 1 UID, but found multiple: ${uids.join(' ')}`);
  if (uids[0] === '') throw new Error('UID cannot be an empty string');
  return authenticated({
    name: commonName,
    ...(uids[0] !== undefined && { uid: uids[0] }),
    groups: organizations,
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
  });
}
