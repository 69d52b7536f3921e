#!/usr/bin/env python3
"""The tuner of lesson 10 as a job array of Slurm: a cluster of one node, this computer, which lives as long as the test.

    slurm.py --tuner PROGRAM --lesson FOLDER
"""
import argparse
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        sys.exit(f"{name} is not installed (Debian: slurmctld, slurmd, slurm-client, munge)")
    return found


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Daemons in the foreground, each a child of this process."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        controller, node = free_ports(2)
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=socket.gethostname().split(".")[0], controller=controller,
                                                                node=node, user=pwd.getpwuid(os.getuid()).pw_name, cpus=os.cpu_count()))
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
                   f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed")
        self.wait("munge answers", lambda: (folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D")
        self.wait("the node is idle", lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False).stdout)

    def start(self, name, *arguments):
        log = open(self.folder / f"{name}.out", "wb")
        self.daemons.append(subprocess.Popen([program(name), *arguments], env=self.environment, stdout=log, stderr=log))

    def run(self, name, *arguments, check=True):
        done = subprocess.run([program(name), *map(str, arguments)], env=self.environment, capture_output=True, text=True, cwd=self.folder)
        if check and done.returncode != 0:
            self.fail(f"{name}: {done.stderr}")
        return done

    def wait(self, what, holds):
        for _ in range(300):
            if holds():
                return
            time.sleep(0.1)
        self.fail(f"not so after 30 s: {what}")

    def fail(self, why):
        for file in sorted(self.folder.glob("*.out")):
            print(f"== {file.name}\n{file.read_text(errors='replace')[-2000:]}", file=sys.stderr)
        raise SystemExit(why)

    def stop(self):
        for one in reversed(self.daemons):
            one.send_signal(signal.SIGTERM)
        for one in self.daemons:
            try:
                one.wait(10)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()


def correct(log):
    found = [json.loads(line) for line in log.read_text().splitlines()]
    return sorted(tuple(one["configuration"].items()) for one in found if one["invalidity"] == "correct")


def check(options, folder):
    cluster = Cluster(folder)
    try:
        board = ["--measure", "echo 7 #", "--limit", "5"]
        tuner = [options.tuner, "64", "48", "32"]
        wrapper = folder / "tuner"
        wrapper.write_text("#!/bin/sh\nexec '" + "' '".join(tuner) + "' \"$@\"\n")
        wrapper.chmod(0o755)
        cluster.run("sbatch", "--array=1-3", f"{options.lesson}/tune.sbatch", wrapper, folder / "logs", *board)
        cluster.wait("the jobs are done", lambda: cluster.run("squeue", "-h").stdout.strip() == "")
        logs = sorted((folder / "logs").iterdir())
        if [one.name for one in logs] != ["1.jsonl", "2.jsonl", "3.jsonl"]:
            cluster.fail(f"logs: {logs}")
        cluster.run(str(wrapper), *board, "--merge", *logs, "--log", folder / "all.jsonl")
        cluster.run(str(wrapper), *board, "--log", folder / "one.jsonl")
        if correct(folder / "all.jsonl") != correct(folder / "one.jsonl") or len(correct(folder / "one.jsonl")) != 5:
            cluster.fail("the tasks did not measure what one process does")
    finally:
        cluster.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tuner", required=True)
    parser.add_argument("--lesson", required=True)
    with tempfile.TemporaryDirectory(prefix="tune_slurm_") as made:
        os.chmod(made, 0o755)  # munge asks for that
        check(parser.parse_args(), pathlib.Path(made))
