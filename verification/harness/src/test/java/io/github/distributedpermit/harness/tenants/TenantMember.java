package io.github.distributedpermit.harness.tenants;

import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.harness.member.MemberMain;
import io.github.distributedpermit.harness.tenants.TenantLoad.Exports;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** One member of a run, in a JVM of its own. It begins when it reads a line, and ends when it has written what it got. */
public final class TenantMember {

    private TenantMember() {}

    /**
     * Runs it.
     *
     * @param arguments scenario, number of the member and of all, seconds, head start in seconds, calls that wait or milliseconds of linger, file for what it
     *     got, then settings of the application
     */
    public static void main(String[] arguments) throws Exception {
        List<String> all = Arrays.asList(arguments);
        int member = Integer.parseInt(all.get(1));
        ConfigurableApplicationContext context = new SpringApplicationBuilder(MemberMain.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .initializers(started -> ((org.springframework.context.support.GenericApplicationContext) started)
                        .registerBean(Exports.class))
                .run(all.subList(7, all.size()).toArray(String[]::new));
        TenantLoad load = new TenantLoad(context.getBean(Permits.class));
        LingerLoad lingering = new LingerLoad(context.getBean(Permits.class).named(LingerLoad.NAME));
        MemberMain.warmUp(context.getBean(Permits.class).named("all"));
        System.out.println("ready");
        if (System.in.read() < 0) {
            return;
        }
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(all.get(3)));
        switch (all.get(0)) {
            case "chains" -> load.chains(member, until);
            case "rolling" -> load.rolling(context.getBean(PermitCatalog.class), member, member, until);
            case "alone" -> load.alone(member, until);
            case "urgent" ->
                load.urgent(
                        Integer.parseInt(all.get(5)),
                        member,
                        Integer.parseInt(all.get(2)),
                        Duration.ofSeconds(Long.parseLong(all.get(4))),
                        until);
            case "fair" -> load.fair(member, Integer.parseInt(all.get(5)));
            case LingerLoad.NAME -> lingering.run(member, until);
            case "forty" -> load.forty(context.getBean(Exports.class), until);
            default -> throw new IllegalArgumentException("No scenario " + all.get(0));
        }
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(Path.of(all.get(6)))))) {
            for (Grant grant : load.grants()) {
                grant.write(out);
            }
            for (Grant call : lingering.calls()) {
                call.write(out);
            }
        }
        System.out.println(load.failures().isEmpty() ? "ended" : "failed " + load.failures());
        System.exit(SpringApplication.exit(context));
    }
}
