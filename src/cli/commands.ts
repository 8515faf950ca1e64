import type { CommandEntry } from './command-entry.ts';

/** All sub-commands, in help order. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'up',
    group: 'cluster',
    summary: 'Start a cluster on this machine',
    load: async () => (await import('./commands/up.ts')).configureUp,
  },
  {
    name: 'down',
    group: 'cluster',
    summary: 'Stop a cluster; its data stays',
    load: async () => (await import('./commands/down.ts')).configureDown,
  },
  {
    name: 'status',
    group: 'cluster',
    summary: 'Tell whether a cluster runs, and where',
    load: async () => (await import('./commands/status.ts')).configureStatus,
  },
  {
    name: 'logs',
    group: 'cluster',
    summary: 'Show what a detached cluster wrote',
    load: async () => (await import('./commands/logs.ts')).configureLogs,
  },
  {
    name: 'kubeconfig',
    group: 'cluster',
    summary: "Print a cluster's admin kubeconfig",
    load: async () => (await import('./commands/kubeconfig.ts')).configureKubeconfig,
  },
  {
    name: 'image',
    group: 'cluster',
    summary: "Load, list and remove a cluster's container images",
    load: async () => (await import('./commands/image.ts')).configureImage,
  },
  {
    name: 'delete',
    group: 'cluster',
    summary: 'Stop a cluster and delete its data',
    load: async () => (await import('./commands/delete.ts')).configureDelete,
  },
  {
    name: 'apiserver',
    group: 'components',
    summary: 'Run the API server alone, on etcd',
    load: async () => (await import('./commands/apiserver.ts')).configureApiserver,
  },
  {
    name: 'controller-manager',
    group: 'components',
    summary: 'Run the controllers alone',
    load: async () => (await import('./commands/controller-manager.ts')).configureControllerManager,
  },
  {
    name: 'scheduler',
    group: 'components',
    summary: 'Run the scheduler alone',
    load: async () => (await import('./commands/scheduler.ts')).configureScheduler,
  },
  {
    name: 'kubelet',
    group: 'components',
    summary: 'Run a node alone',
    load: async () => (await import('./commands/kubelet.ts')).configureKubelet,
  },
  {
    name: 'proxy',
    group: 'components',
    summary: 'Run the proxy of services alone, or print its rules',
    load: async () => (await import('./commands/proxy.ts')).configureProxy,
  },
  {
    name: 'dns',
    group: 'components',
    summary: 'Run cluster DNS alone',
    load: async () => (await import('./commands/dns.ts')).configureDns,
  },
  {
    name: 'completion',
    group: 'tools',
    summary: 'Print a script that completes commands and options in your shell',
    load: async () => (await import('./commands/completion.ts')).configureCompletion,
  },
  {
    name: 'version',
    group: 'tools',
    summary: 'Show the versions of Sampan, of its Kubernetes API and of Node.js',
    load: async () => (await import('./commands/version.ts')).configureVersion,
  },
];
