package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.PermitAccess;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Warns about permits that the endpoint of a servlet container cannot be asked for, because their names contain a slash: Tomcat
 * refuses a path with an encoded one.
 */
record UnreachableNamesWarning(PermitAccess permits) implements Runnable {

    private static final Log log = LogFactory.getLog(UnreachableNamesWarning.class);

    @Override
    public void run() {
        permits.definitions().stream()
                .map(PermitDefinition::name)
                .filter(name -> name.indexOf('/') >= 0)
                .distinct()
                .sorted()
                .forEach(
                        name -> log.warn(("The endpoint 'permits' cannot show or change permit '%s' over HTTP: its name"
                                        + " contains a slash, and servlet containers answer a path with an encoded slash with 400."
                                        + " Give it a name without one, such as @DistributedPermit(name = \"%s\")")
                                .formatted(name, name.replace('/', '-'))));
    }
}
