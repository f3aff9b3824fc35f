/** What starts the processes that programs are run in, for whoever runs the programs of others. */
export { HostEnded, HostProcess, hostFile, JobFailed } from './hosts/host-process.ts';
export { serveJobs } from './hosts/serve-jobs.ts';
export { HostedMachines, type HostsOptions } from './program/machine/hosted-machines.ts';
