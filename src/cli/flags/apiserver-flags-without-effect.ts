import { commonFlagsWithoutEffect, servingFlagsWithoutEffect } from './common-flags.ts';
import { type FlagTable, flagsWithoutEffect } from './flag-table.ts';

/** kube-apiserver flags without an effect here. */
export function apiServerFlagsWithoutEffect<S>(): FlagTable<S> {
  return {
    ...commonFlagsWithoutEffect<S>(),
    ...servingFlagsWithoutEffect<S>(),
    ...storageFlags<S>(),
    ...requestFlags<S>(),
    ...flagsWithoutEffect<S>('no cloud provider is built in', { 'cloud-provider': 'text', 'cloud-config': 'file' }),
    ...flagsWithoutEffect<S>('admission plugins are chosen with --enable-admission-plugins and --disable-admission-plugins', {
      'admission-control': 'list',
    }),
    ...flagsWithoutEffect<S>('the release that is emulated has no newer versions', {
      'runtime-config-emulation-forward-compatible': 'bool',
      'emulation-forward-compatible': 'bool',
    }),
    ...flagsWithoutEffect<S>('service account tokens are signed by --service-account-signing-key-file', {
      'service-account-signing-endpoint': 'text',
    }),
    ...flagsWithoutEffect<S>('accounts are always looked up', { 'service-account-lookup': 'bool' }),
    ...flagsWithoutEffect<S>('kubelets are reached at the port that their Node tells', {
      'kubelet-port': 'count',
      'kubelet-read-only-port': 'count',
    }),
    ...flagsWithoutEffect<S>('API servers keep their own addresses in the endpoints of the service', {
      'apiserver-count': 'count',
      'endpoint-reconciler-type': 'text',
      'kubernetes-service-node-port': 'count',
    }),
    ...flagsWithoutEffect<S>('every API server serves everything, so none asks another', {
      'peer-ca-file': 'file',
      'peer-advertise-ip': 'text',
      'peer-advertise-port': 'text',
    }),
    ...flagsWithoutEffect<S>('leases are renewed by those who hold them', {
      'coordinated-leadership-lease-duration': 'duration',
      'coordinated-leadership-renew-deadline': 'duration',
      'coordinated-leadership-retry-period': 'duration',
    }),
  };
}

function storageFlags<S>(): FlagTable<S> {
  return {
    ...flagsWithoutEffect<S>('all objects are in one etcd cluster', { 'etcd-servers-overrides': 'list', 'storage-backend': 'text' }),
    ...flagsWithoutEffect<S>('every resource is cached, with a history that is bounded in bytes', {
      'watch-cache': 'bool',
      'default-watch-cache-size': 'count',
      'watch-cache-sizes': 'list',
    }),
    ...flagsWithoutEffect<S>('objects are deleted one after the other, in order', { 'delete-collection-workers': 'count' }),
    ...flagsWithoutEffect<S>('whether dependents are collected is a matter of the controller manager', {
      'enable-garbage-collector': 'bool',
    }),
    ...flagsWithoutEffect<S>('counts are kept as objects change', {
      'etcd-count-metric-poll-period': 'duration',
      'etcd-db-metric-poll-interval': 'duration',
    }),
    ...flagsWithoutEffect<S>('health is judged by the requests to etcd themselves', {
      'etcd-healthcheck-timeout': 'duration',
      'etcd-readycheck-timeout': 'duration',
    }),
    ...flagsWithoutEffect<S>('each expiring key has a lease of its own', { 'lease-reuse-duration-seconds': 'count' }),
    ...flagsWithoutEffect<S>('the server is ready once its store is, however long that takes', {
      'storage-initialization-timeout': 'duration',
    }),
  };
}

function requestFlags<S>(): FlagTable<S> {
  return {
    ...flagsWithoutEffect<S>('the kubelet serves log files; the API server has none', { 'enable-logs-handler': 'bool' }),
    ...flagsWithoutEffect<S>('streams are slowed down by those who read them', { 'max-connection-bytes-per-sec': 'count' }),
    ...flagsWithoutEffect<S>('the server is alive as soon as it listens', { 'livez-grace-period': 'duration' }),
    ...flagsWithoutEffect<S>('the server answers until it has stopped listening', {
      'shutdown-send-retry-after': 'bool',
      'shutdown-watch-termination-grace-period': 'duration',
    }),
    ...flagsWithoutEffect<S>('no socket for debugging is opened', { 'debug-socket-path': 'file' }),
    ...flagsWithoutEffect<S>('a request to a kubelet takes as long as its client waits', { 'kubelet-timeout': 'duration' }),
    ...flagsWithoutEffect<S>('redirects of aggregated servers are never followed', { 'aggregator-reject-forwarding-redirect': 'bool' }),
  };
}
