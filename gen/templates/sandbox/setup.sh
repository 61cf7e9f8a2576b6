# Makes the root of the sandbox and starts the driver in it. Arguments: the folder of the sandbox, the most bytes of the
# records, and what to print before them. It prints the records, which no process of the script can reach outside of the
# namespaces: a link in their place would lead to a file of the user. One `mount` makes all mounts of its table: each
# program that this starts takes as long as one of the script.
set -e
mount --make-rprivate /
mount -t tmpfs -o size=64m none "$1/root"
cd "$1/root"
own=${1// /\\040} links=() table=()
bound() { table+=("$1 $own/root/$2 none bind${3:+,$3} 0 0"); }
memory() { table+=("none $own/root/$1 tmpfs size=$2 0 0"); }
folders=(usr dev tmp srv gen etc proc root old)
for one in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$one" ]; then links+=("/$one")
  elif [ -d "/$one" ]; then folders+=("$one"); bound "/$one" "$one" ro
  fi
done
bound /usr usr ro
bound "$own/gen" gen ro
bound /usr/bin gen/real ro
bound /dev/null dev/null
bound /dev/zero dev/zero
memory gen/out 32m
memory gen/bin 4m
for one in usr/bin usr/sbin usr/local; do
  if [ -d "/$one" ]; then memory "$one" 1m; fi
done
[ -L /bin ] || memory bin 1m
mkdir "${folders[@]}"
[ ${#links[@]} -eq 0 ] || cp -P "${links[@]}" .
: > dev/null
: > dev/zero
printf '%s\n' "${table[@]}" > etc/mounts
mount --all --fstab etc/mounts
: > etc/mounts # it has paths of the user
cp -P "$1"/gen/tools/* usr/bin/
[ -L bin ] || cp -P "$1"/gen/tools/* bin/
cp -P "$1"/gen/start/* gen/bin/
mount -t proc proc proc 2>/dev/null && ln -s /proc/self/fd dev/fd || true
mkdir gen/out/records
pivot_root . old
cd /
/gen/real/umount -l /old
mapfile -t paths < /gen/folders
[ ${#paths[@]} -eq 0 ] || mkdir -p "${paths[@]}" 2>/dev/null || true
while IFS= read -r path; do [ -e "$path" ] || ln -s /gen/record "$path" || true; done < /gen/programs
while IFS= read -r path; do [ -e "$path" ] || : > "$path" || true; done < /gen/inputs
[ ! -d /gen/files ] || cp -r /gen/files/. / 2>/dev/null || true
printf '%s' "$3"
trap '' PIPE # a program that does not read its input ends no other
ulimit -t 20 -f 40000 -v 4000000 -u 4000
/gen/real/setpriv --no-new-privs --bounding-set=-all --inh-caps=-all /bin/bash -p /gen/driver >/dev/null || true
cd /gen/out/records
printf '%s\0' * | /gen/real/xargs -0 /gen/real/cat -- 2>/dev/null | /gen/real/head -c "$2"
