# Makes the root of the sandbox and starts the driver in it. Arguments: the folder of the sandbox, the most bytes of the
# records, and what to print before them. It prints the records, which no process of the script can reach outside of the
# namespaces: a link in their place would lead to a file of the user.
set -e
mount --make-rprivate /
mount -t tmpfs -o size=64m none "$1/root"
cd "$1/root"
mkdir usr dev tmp srv gen etc proc root old
for one in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$one" ]; then cp -P "/$one" .; continue; fi
  [ -d "/$one" ] || continue
  mkdir "$one"
  mount --bind "/$one" "$one"
  mount -o remount,bind,ro "$one"
done
mount --bind /usr usr
mount -o remount,bind,ro usr
mount --bind "$1/gen" gen
mount -o remount,bind,ro gen
mount -t tmpfs -o size=32m none gen/out
mount --bind /usr/bin gen/real
mount -o remount,bind,ro gen/real
mount -t tmpfs -o size=1m none usr/bin
[ -d usr/sbin ] && mount -t tmpfs -o size=1m none usr/sbin
[ -d usr/local ] && mount -t tmpfs -o size=1m none usr/local
[ -L bin ] || mount -t tmpfs -o size=1m none bin
cp -P "$1"/gen/tools/* usr/bin/
[ -L bin ] || cp -P "$1"/gen/tools/* bin/
ln -s /gen/answer usr/bin/time
touch dev/null dev/zero && mount --bind /dev/null dev/null && mount --bind /dev/zero dev/zero
mount -t proc proc proc 2>/dev/null && ln -s /proc/self/fd dev/fd || true
pivot_root . old
cd /
/gen/real/umount -l /old
/gen/real/mount -t tmpfs -o size=4m none /gen/bin
cp -P /gen/start/* /gen/bin/
while IFS= read -r path; do mkdir -p "$path" 2>/dev/null || true; done < /gen/folders
while IFS= read -r path; do [ -e "$path" ] || ln -s /gen/record "$path" || true; done < /gen/programs
while IFS= read -r path; do [ -e "$path" ] || : > "$path" || true; done < /gen/inputs
cp -r /gen/files/. / 2>/dev/null || true
printf '%s' "$3"
trap '' PIPE # a program that does not read its input ends no other
ulimit -t 20 -f 40000 -v 4000000 -u 4000
/gen/real/setpriv --no-new-privs --bounding-set=-all --inh-caps=-all /bin/bash -p /gen/driver >/dev/null || true
exec /gen/real/head -c "$2" /gen/out/records
