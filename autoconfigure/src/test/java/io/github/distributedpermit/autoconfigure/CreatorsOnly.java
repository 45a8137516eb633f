package io.github.distributedpermit.autoconfigure;

import java.util.List;
import org.apache.curator.framework.imps.DefaultACLProvider;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

/** Nodes belong to the identity that has created them, as docs/zookeeper.md has it. */
final class CreatorsOnly extends DefaultACLProvider {

    @Override
    public List<ACL> getDefaultAcl() {
        return ZooDefs.Ids.CREATOR_ALL_ACL;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
        return ZooDefs.Ids.CREATOR_ALL_ACL;
    }
}
