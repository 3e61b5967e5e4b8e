#!/bin/sh
# Runs systemd as the first process of a system of its own, and ends with it: `unshare --mount boot-systemd.sh FOLDER ARCHIVE`.
# Its root is this one, and what it writes there goes to a layer in memory. It has no units but those of FOLDER/units, no cgroup but its
# own, and the host's network. FOLDER/files is copied over the root, ARCHIVE is shown in /opt/attestd, and FOLDER/shared in /shared.
set -eu
folder=$1 archive=$2
if [ "${3-}" != inside ]; then
  mount --make-rprivate /
  mkdir "$folder/cgroups"
  mount -t cgroup2 cgroup2 "$folder/cgroups"
  own=$folder/cgroups/attestd-test-$$
  mkdir "$own"
  sh -c 'echo $$ > "$0/cgroup.procs" && exec setpriv --pdeathsig KILL unshare --pid --fork --mount --uts --ipc --cgroup --kill-child "$@"' \
    "$own" "$0" "$folder" "$archive" inside 2>> "$folder/shared/boot.log" || true
  find "$own" -depth -type d -exec rmdir {} +
  exit
fi
layers=$folder/layers
mkdir -p "$layers"
mount -t tmpfs tmpfs "$layers"
mkdir "$layers/upper" "$layers/work" "$layers/root"
# By short names in the current folder: an option's value can have no comma or colon.
cd "$layers"
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
cd root
# Units that this host has enabled, and an attestd that it may run.
rm -rf etc/systemd/system etc/attestd etc/attestd-signer var/lib/attestd var/lib/private/attestd
cp -R "$folder/files/." .
mkdir -p etc/systemd/system units shared opt/attestd old
cp -R "$folder/units/." units
mount --bind "$archive" opt/attestd
mount --bind "$folder/shared" shared
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,ro,bind proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for at in run tmp; do mount -t tmpfs -o mode=1777 tmpfs $at; done
chmod 755 run
mount -t tmpfs -o mode=755 tmpfs dev
for node in null zero full random urandom tty; do
  : > dev/$node
  mount --bind /dev/$node dev/$node
done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
pivot_root . old
umount -l /old
# As systemd itself has it outside containers: credentials come to services by it.
mount --make-rshared /
exec env -i container=attestd-test SYSTEMD_UNIT_PATH=/etc/systemd/system:/units SYSTEMD_LOG_TARGET=null PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=multi-user.target --show-status=no
