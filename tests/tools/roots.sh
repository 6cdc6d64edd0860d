# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For scripts that work in a root of a release of Debian: made by debootstrap, kept, and entered with
# chroot. The sources are in /tandem there.

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# debian_root RELEASE ROOT [OPTIONS...]: makes it unless it is there; the options are debootstrap's.
debian_root() {
    local release=$1 root=$2
    shift 2
    if [ -d "$root" ]; then
        return
    fi
    mkdir -p "$(dirname "$root")"
    as_root rm -rf --one-file-system "$root.new"
    as_root debootstrap --variant=minbase "$@" "$release" "$root.new"
    as_root mkdir -p "$root.new/tandem/build"
    as_root mv "$root.new" "$root"
}

# copy_sources ROOT: without what was built or installed here; what was built there stays. An unchanged
# file keeps its time, so that only what has changed is built again.
copy_sources() {
    as_root find "$1/tandem" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    archive_sources | as_root tar --extract --no-same-owner --directory "$1/tandem"
}

archive_sources() {
    tar --create --exclude=./build --exclude=./data --exclude=./.git --exclude=node_modules \
        --exclude=__pycache__ .
}

# in_root [--no-network] ROOT COMMAND...: runs it in the sources there. Its processes end with it. npm trusts
# whom this machine trusts, such as the proxy of a network.
in_root() {
    local own=(--mount --pid --fork --kill-child) loopback=true root
    local here=/etc/ssl/certs/ca-certificates.crt there=/etc/ssl/certs/of-the-machine.crt
    if [ "$1" = --no-network ]; then
        own+=(--net)
        loopback='ip link set lo up'
        shift
    fi
    root=$1
    shift
    as_root cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
    as_root mkdir -p "$root/etc/ssl/certs"
    [ ! -e "$here" ] || as_root cp "$here" "$root$there"
    as_root unshare "${own[@]}" --mount-proc="$root/proc" sh -c "
        $loopback && mount --rbind /dev \"\$0/dev\" && mount --rbind /sys \"\$0/sys\" && exec chroot \"\$0\" \"\$@\"
    " "$root" env -i --chdir=/tandem HOME=/root LANG=C.UTF-8 NODE_EXTRA_CA_CERTS="$there" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
